import type { Snippet } from './snippets'
import styles from './databasePanel.module.scss'

type SnippetChoiceProps = { snippets: readonly Snippet[]; chosen: Snippet; onChoose: (key: string) => void }

export function SnippetChoice({ snippets, chosen, onChoose }: SnippetChoiceProps) {
  return (
    <div className={styles.snippetChoice} role="group" aria-label="Ready to paste">
      {snippets.map(({ key, title }) => (
        <button key={key} type="button" aria-pressed={key === chosen.key} onClick={() => onChoose(key)}>
          {title}
        </button>
      ))}
    </div>
  )
}
