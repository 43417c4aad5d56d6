/** Has the height of the editor. */
export function EditorSkeleton() {
  return (
    <div className="configuration-panel panel placeholder-glow" role="status">
      <span className="visually-hidden">Loading the configuration</span>
      <div className="configuration-skeleton" aria-hidden="true">
        {[9, 12, 20, 14, 6, 18, 22, 10].map((width, line) => (
          <span key={line} className="placeholder" style={{ width: `${width}rem` }} />
        ))}
      </div>
    </div>
  )
}
