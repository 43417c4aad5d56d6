import { RegisterPage } from '../features/auth/RegisterPage'
import { registrationPart } from './registrationPart'
import { useRecorder } from './useRecorder'
import { withPart } from './withPart'

const Page = withPart(registrationPart, RegisterPage)

export function RegisterRoute() {
  useRecorder()
  return <Page />
}
