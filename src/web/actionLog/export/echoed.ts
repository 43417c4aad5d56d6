import { changeTexts } from './hide'
import { isObject, type Call } from './typedPlaces'

/** The endpoint of the activity log. Its argument is the search text. */
export const SEARCH = 'getActivity'

const MASKED = /^\u2022/

/**
 * Masks the arguments of refused calls that a response repeats: the subjects of refused actions in the activity log,
 * and directories that could not be created. Also masks the typed parts of commands in the activity log, and leaves
 * out the results of a masked search, because each entry contains the search text.
 *
 * @param call with masked arguments
 */
export function maskEchoed(
  { endpointName, originalArgs }: Partial<Call>,
  answer: unknown,
  mask: (text: string) => string,
  maskCommand: (command: string) => string = mask,
): unknown {
  if (endpointName === 'createDirectories' && isObject(answer))
    return { ...answer, failed: changeTexts(answer.failed, (text) => mask(text)) }
  if (endpointName !== SEARCH) return answer
  const { search } = (originalArgs ?? {}) as { search?: string }
  return MASKED.test(search ?? '') ? withoutEntries(answer) : maskSubjects(answer, mask, maskCommand)
}

const withoutEntries = (answer: unknown) =>
  isObject(answer) && Array.isArray(answer.pages)
    ? { ...answer, pages: answer.pages.map((page: object) => ({ ...page, entries: [] })) }
    : answer

/** The name of an instance, which precedes a command in the activity log. */
const INSTANCE = /^[^:]*: /

function maskSubjects(value: unknown, mask: (text: string) => string, maskCommand: typeof mask): unknown {
  if (Array.isArray(value)) return value.map((inner) => maskSubjects(inner, mask, maskCommand))
  if (!isObject(value)) return value
  const { succeeded, subject, kind } = value
  const name = kind === 'command' && typeof subject === 'string' ? INSTANCE.exec(subject)?.[0] : undefined
  if (name !== undefined) return { ...value, subject: name + maskCommand(String(subject).slice(name.length)) }
  if (succeeded === false && typeof subject === 'string') return { ...value, subject: mask(subject) }
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => [field, maskSubjects(inner, mask, maskCommand)]),
  )
}
