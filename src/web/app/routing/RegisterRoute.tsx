import { RegisterPage } from '../../features/auth/RegisterPage'
import { useRecorder } from '../useRecorder'

export function RegisterRoute() {
  useRecorder()
  return <RegisterPage />
}
