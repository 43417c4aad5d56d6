import { Link } from 'react-router-dom'

export function HomeLink() {
  return (
    <Link to="/" className="btn btn-primary">
      Return Home
    </Link>
  )
}
