import { useDispatch } from 'react-redux'
import type { DatabaseType } from '../../../../contract/database'
import type { ListedDatabase } from '../../../api/databases'
import { useAppSelector } from '../../../app/hooks'
import type { Code } from './code'
import { CodeBlock } from './CodeBlock'
import { connectionOf, connectionString, marked } from './connection'
import { selectSnippet, snippetChosen } from '../databasesSlice'
import { RevealButton } from './RevealButton'
import { SnippetChoice } from './SnippetChoice'
import { snippets } from './snippets'
import styles from './databasePanel.module.scss'

type ConnectionTabProps = { type: DatabaseType; database: ListedDatabase; isRevealed: boolean; onReveal: () => void }

export function ConnectionTab({ type, database, isRevealed, onReveal }: ConnectionTabProps) {
  const chosenKey = useAppSelector((state) => selectSnippet(state, type))
  const dispatch = useDispatch()
  const connection = connectionOf(type, database)
  const line = connection ? connectionString(type, connection) : givenString(database)
  if (!line)
    return (
      <p className={styles.connectionMissing}>
        The server did not send all connection details. Resetting the password may restore them.
      </p>
    )

  const chosen = snippets[type].find(({ key }) => key === chosenKey) ?? snippets[type][0]
  return (
    <div className={styles.connection}>
      <CodeBlock
        source={line}
        label="connection string"
        isRevealed={isRevealed}
        wrap
        title={<h4>Connection string</h4>}
      >
        <RevealButton isRevealed={isRevealed} onReveal={onReveal} />
      </CodeBlock>
      {connection && (
        <>
          <CodeBlock
            source={chosen.source(connection)}
            label={`${chosen.title} snippet`}
            isRevealed={isRevealed}
            title={
              <SnippetChoice
                snippets={snippets[type]}
                chosen={chosen}
                onChoose={(snippet) => dispatch(snippetChosen({ type, snippet }))}
              />
            }
          />
          {isLoopback(connection.host) && (
            <p className="form-text">
              {connection.host} is the machine that the database server runs on. From another machine, use that
              machine&apos;s own address, if the server listens there.
            </p>
          )}
        </>
      )}
    </div>
  )
}

/** Returns the server's own connection string, for when its parts are incomplete. */
function givenString({ credentials: { connectionString: given } }: ListedDatabase): Code | undefined {
  return typeof given === 'string' && given !== '' ? marked(given) : undefined
}

const isLoopback = (host: string) => /^(localhost|127\..*|::1)$/i.test(host)
