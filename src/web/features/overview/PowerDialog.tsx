import { useDispatch } from 'react-redux'
import type { Instance } from '../../../contract/instance'
import { useRestartDeploymentMutation } from '../../api/deployments'
import { useReportResult } from '../../api/useReportResult'
import { counted } from '../../ui/counted'
import { QuestionDialog } from '../../ui/dialog/QuestionDialog'
import type { PowerQuestion } from './overviewSlice'
import { dialogClosed } from './overviewSlice'
import { countPlayers, playersOnlineText } from './totals'
import { useToggle } from './useToggle'

/** Asks before all instances of a deployment are stopped. The call goes on after the dialog has closed. */
export function PowerDialog({ kind, name, instances }: PowerQuestion & { instances: Instance[] }) {
  const [restart] = useRestartDeploymentMutation({ fixedCacheKey: `restart ${name}` })
  const { toggle } = useToggle(name)
  const report = useReportResult()
  const dispatch = useDispatch()
  const close = () => dispatch(dialogClosed())
  const restartAll = async () =>
    report(await restart(name), `Successfully restarted ${name}`, `Failed to restart ${name}`)
  const running = instances.filter(({ state }) => state !== 'STOPPED')
  const players = playersOnlineText(countPlayers(running))

  if (kind === 'restart')
    return (
      <QuestionDialog
        title="Restart deployment"
        answers={[
          {
            text: 'Restart',
            variant: 'primary',
            onChoose: () => {
              close()
              void restartAll()
            },
          },
          { text: 'Cancel', onChoose: close },
        ]}
      >
        <p>
          Restart {counted(instances.length, 'instance')} of {name}? {players}
        </p>
        <p className="form-text">They restart one after another.</p>
      </QuestionDialog>
    )
  return (
    <QuestionDialog
      title="Disable deployment"
      answers={[
        {
          text: 'Disable',
          variant: 'danger',
          onChoose: () => {
            close()
            void toggle(false)
          },
        },
        { text: 'Cancel', onChoose: close },
      ]}
    >
      <p>
        Disable {name} and stop {counted(running.length, 'instance')}? {players}
      </p>
      <p className="form-text">Its instances stay off until it is enabled again.</p>
    </QuestionDialog>
  )
}
