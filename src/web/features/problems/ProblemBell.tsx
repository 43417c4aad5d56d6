import { Suspense } from 'react'
import { useDispatch, useSelector } from 'react-redux'
import { lazyEarly } from '../../chunks'
import { ActionIcon } from '../../ui/ActionIcon'
import { problemsOpened, selectProblemsOpen, selectUnseenProblems } from './problemsSlice'
import styles from './problems.module.scss'

const ProblemsDialog = lazyEarly(
  async () => (await import(/* webpackChunkName: 'header-dialogs' */ './ProblemsDialog')).ProblemsDialog,
)

/** Opens the problem log. Shows how many problems were logged since it was last open. */
export function ProblemBell() {
  const unseen = useSelector(selectUnseenProblems)
  const open = useSelector(selectProblemsOpen)
  const dispatch = useDispatch()
  const label = unseen > 0 ? `Problems: ${unseen} new` : 'Problems'
  return (
    <>
      <button
        type="button"
        className={`header-button ${styles.bell}`}
        aria-label={label}
        title={label}
        onClick={() => dispatch(problemsOpened())}
      >
        <ActionIcon name="bell" />
        {unseen > 0 && <span className={styles.unseen}>{unseen > 99 ? '99+' : unseen}</span>}
      </button>
      <Suspense>{open && <ProblemsDialog />}</Suspense>
    </>
  )
}
