import {
  PASSWORD_MAX_LENGTH,
  PASSWORD_MIN_LENGTH,
  USERNAME_MAX_LENGTH,
  USERNAME_MIN_LENGTH,
  USERNAME_PATTERN,
} from '../../../../contract/rules'

export const USERNAME_RULE = `${USERNAME_MIN_LENGTH} to ${USERNAME_MAX_LENGTH} letters, digits or _ . -`
export const PASSWORD_RULE = `${PASSWORD_MIN_LENGTH} to ${PASSWORD_MAX_LENGTH} characters`

export const isUsername = (text: string) => USERNAME_PATTERN.test(text)
export const isPassword = (text: string) => text.length >= PASSWORD_MIN_LENGTH && text.length <= PASSWORD_MAX_LENGTH
