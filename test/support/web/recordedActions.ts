import { addAppMiddleware } from '../../../src/web/app/dynamicMiddleware'

/** Records the actions of the page from now on. @returns their JSON */
export function recordActions(): () => string {
  const actions: unknown[] = []
  addAppMiddleware(() => (next) => (action) => {
    actions.push(action)
    return next(action)
  })
  return () => JSON.stringify(actions)
}
