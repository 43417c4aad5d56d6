import { RegisterPage } from '../../features/auth/registration/RegisterPage'
import { useRecorder } from '../useRecorder'

export function RegisterRoute() {
  useRecorder()
  return <RegisterPage />
}
