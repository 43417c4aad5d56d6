import { Link } from 'react-router-dom'
import { Icon } from '../../ui/Icon'
import { addressOfPath, breadcrumbOf } from './sharedPath'
import { useDropTarget } from './useDropTarget'
import styles from './breadcrumb.module.scss'

export function Breadcrumb({ path }: { path: string }) {
  const target = useDropTarget()
  const breadcrumb = breadcrumbOf(path)
  return (
    <nav className={styles.trail} aria-label="Directory">
      <ol>
        {breadcrumb.map(({ name, path: step }, index) => (
          <li key={step} {...target(step)}>
            {index > 0 && <Icon name="chevron" size={14} />}
            {step === path ? (
              <span aria-current="page">{name}</span>
            ) : (
              <Link to={addressOfPath(step)} draggable={false}>
                {name}
              </Link>
            )}
          </li>
        ))}
      </ol>
    </nav>
  )
}
