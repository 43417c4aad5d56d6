import type { ActionLog } from '../../../contract/actionLog'
import type { Replay } from './checkLog'
import type { Difference } from './diff'
import { differences, shortText } from './diff'

/** Maximum number of reported steps. Later deviations usually follow from the first ones. */
const MAX_REPORTED = 3

const seconds = (at: number) => `${(at / 1000).toFixed(3)} s`
const line = ({ path, before, after }: Difference, from: string, to: string) => [
  `    ${path}`,
  `      - ${from}: ${shortText(before)}`,
  `      + ${to}: ${shortText(after)}`,
]

/** Returns lines that describe the deviations from the recording. Returns an empty list if there are none. */
export function reportReplay({ actions }: ActionLog, { deviations, final, steps }: Replay): string[] {
  const reported = deviations.slice(0, MAX_REPORTED).flatMap(({ index, parts, changes, thrown }) => {
    const action = actions[index]
    return [
      `  action ${index} at ${seconds(action?.at ?? 0)}: ${action?.type}`,
      ...(thrown === undefined ? [] : [`    a reducer threw: ${thrown}`]),
      `    differs from the recording in: ${parts.map((part) => `${part} (recorded ${action?.changed[part] ?? 'no change'}, now ${steps[index]?.changed[part] ?? 'no change'})`).join(', ')}`,
      ...(changes.length === 0
        ? ['    changes none of these in this replay']
        : ['    changes in this replay', ...changes.flatMap((change) => line(change, 'before', 'after'))]),
    ]
  })
  const more = deviations.length > MAX_REPORTED ? [`  and ${deviations.length - MAX_REPORTED} later actions`] : []
  const end =
    final.length > 0 ? ['  the final state', ...final.flatMap((difference) => line(difference, 'recorded', 'now'))] : []
  return [...reported, ...more, ...end]
}

/** Returns a line for each action, followed by the changes that it made. */
export function printReplay({ actions }: ActionLog, { base, steps }: Replay): string[] {
  return steps.flatMap(({ state }, index) => {
    const action = actions[index]
    const before = index === 0 ? base : steps[index - 1]?.state
    return [
      `${index} ${seconds(action?.at ?? 0)} ${action?.type} ${action?.payload === undefined ? '' : shortText(action.payload)}`.trimEnd(),
      ...differences(before, state).map(
        ({ path, before, after }) => `    ${path}: ${shortText(before, 60)} → ${shortText(after, 60)}`,
      ),
    ]
  })
}
