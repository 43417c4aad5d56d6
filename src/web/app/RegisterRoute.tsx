import { RegisterPage } from '../features/auth/RegisterPage'
import { registrationPart } from './pages/registrationPart'
import { useRecorder } from './useRecorder'
import { withPart } from './pages/withPart'

const Page = withPart(registrationPart, RegisterPage)

export function RegisterRoute() {
  useRecorder()
  return <Page />
}
