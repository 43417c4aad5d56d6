import type { FormEvent } from 'react'
import { useState } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { Field } from '../../../ui/form/Field'
import { NewPasswordField } from '../../../ui/form/NewPasswordField'
import { SubmitButton } from '../../../ui/form/SubmitButton'
import { isPassword, isUsername, PASSWORD_RULE, USERNAME_RULE } from './accountRules'
import { selectUsername, usernameChosen } from './registrationSlice'

export function AccountStep({ busy, onSubmit }: { busy: boolean; onSubmit: (password: string) => unknown }) {
  const username = useSelector(selectUsername)
  const [password, setPassword] = useState('')
  const [tries, setTries] = useState(0)
  const dispatch = useDispatch()
  const showsErrors = tries > 0

  const submit = (event: FormEvent) => {
    event.preventDefault()
    setTries(tries + 1)
    if (!busy && isUsername(username) && isPassword(password)) onSubmit(password)
  }

  return (
    <form className="auth-form" onSubmit={submit} noValidate>
      <Field
        label="Username"
        rule={USERNAME_RULE}
        broken={showsErrors && !isUsername(username)}
        focused={!showsErrors || !isUsername(username)}
        focusKey={tries}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        required
        value={username}
        onChange={(text) => dispatch(usernameChosen(text))}
      />
      <NewPasswordField
        label="Password"
        rule={PASSWORD_RULE}
        broken={showsErrors && !isPassword(password)}
        focused={showsErrors && isUsername(username) && !isPassword(password)}
        focusKey={tries}
        value={password}
        onChange={setPassword}
      />
      <SubmitButton busy={busy}>Continue</SubmitButton>
    </form>
  )
}
