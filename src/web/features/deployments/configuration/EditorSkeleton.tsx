import styles from './configuration.module.scss'

/** A placeholder with the height of the editor. */
export function EditorSkeleton() {
  return (
    <div className={`${styles.editorPanel} panel placeholder-glow`} role="status">
      <span className="visually-hidden">Loading the configuration</span>
      <div className={styles.skeleton} aria-hidden="true">
        {[9, 12, 20, 14, 6, 18, 22, 10].map((width, line) => (
          <span key={line} className="placeholder" style={{ width: `${width}rem` }} />
        ))}
      </div>
    </div>
  )
}
