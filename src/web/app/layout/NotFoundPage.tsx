import Button from 'react-bootstrap/Button'
import { useNavigate } from 'react-router-dom'
import { Notice } from '../../ui/Notice'
import { HomeLink } from './HomeLink'

export function NotFoundPage() {
  const navigate = useNavigate()
  const goBack = (
    <Button variant="outline-secondary" onClick={() => navigate(-1)}>
      Go Back
    </Button>
  )
  return (
    <Notice
      title="Page Not Found"
      icon="compass"
      actions={
        <>
          {goBack}
          <HomeLink />
        </>
      }
    >
      <title>Page Not Found · Quarterdeck</title>
      <p>The page you&apos;re looking for doesn&apos;t exist or has been moved</p>
      <p className="notice-aside">Need help? Contact your system administrator</p>
    </Notice>
  )
}
