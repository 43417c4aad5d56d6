import type { Rule } from './rule'
import { each, fields } from './rule'

/** The redaction rules for slices in Redux DevTools. Slices that are not listed contain no secrets. */
export const stateRules: Record<string, Rule> = {
  login: fields({ step: 'keep', forgotOpen: 'keep' }),
  registration: fields({ username: 'mask' }),
  configuration: fields({ drafts: each(fields({ text: 'definition' })), dialog: 'keep' }),
  problems: fields({
    list: each(fields({ id: 'keep', at: 'keep', what: 'keep', count: 'keep' })),
    unseen: 'keep',
    open: 'keep',
  }),
  instance: instanceView(),
  instancePanes: each(instanceView()),
}

function instanceView(): Rule {
  return fields({
    killAsked: 'keep',
    capsuleOf: 'keep',
    commands: each('command'),
    prefersAutoScroll: 'keep',
    autoScroll: 'keep',
    isPaused: 'keep',
    isAway: 'keep',
    position: 'keep',
    wrap: 'keep',
    query: 'line',
    found: 'keep',
    selection: 'keep',
    range: 'keep',
  })
}
