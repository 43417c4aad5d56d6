import styles from './fileDialogs.module.scss'

/** The limit of product §9. */
const NAMES_SHOWN = 5

/** Shows the first names and the number of the others (product §2, §9). */
export function NameList({ names }: { names: string[] }) {
  const more = names.length - NAMES_SHOWN
  return (
    <ul className={styles.nameList}>
      {names.slice(0, NAMES_SHOWN).map((name, index) => (
        <li key={index}>
          <bdi>{name}</bdi>
        </li>
      ))}
      {more > 0 && <li className={styles.nameListMore}>...and {more} more items</li>}
    </ul>
  )
}
