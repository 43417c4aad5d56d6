import { FILE_NAME_PATTERN } from '../../../../contract/pageRules'

/** Validates the name of a new file or directory. Returns the product's error text, or undefined if it is valid. */
export function newNameProblem(kind: 'file' | 'directory', name: string): string | undefined {
  if (name.trim() === '') return `Please enter a ${kind} name`
  if (!FILE_NAME_PATTERN.test(name.trim()))
    return `${kind === 'file' ? 'File' : 'Directory'} name contains invalid characters`
  return undefined
}

export function renameProblem(from: string, to: string): string | undefined {
  if (to.trim() === '') return 'Name cannot be empty'
  if (to.trim() === from) return 'New name must be different'
  if (!FILE_NAME_PATTERN.test(to.trim())) return 'Name contains invalid characters'
  return undefined
}
