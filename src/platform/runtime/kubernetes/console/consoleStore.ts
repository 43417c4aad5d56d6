import type { ConsoleHead } from '../../../consoleHead'
import type { ConsoleLine } from '../../runtime'

/** The shared store of console lines for all platforms (see `state/deployments/consoles.ts`). */
export interface ConsoleStore {
  head(podName: string): Promise<ConsoleHead>
  append(podName: string, head: ConsoleHead, lines: Omit<ConsoleLine, 'seq'>[]): Promise<boolean>
  lines(podName: string, from: number): Promise<ConsoleLine[]>
  newest(podNames: string[]): Promise<Map<string, number>>
  trim(podName: string, maxLines: number, maxBytes: number): Promise<void>
  remove(podName: string): Promise<void>
  lease(podName: string, reader: string): Promise<boolean>
  release(podName: string, reader: string): Promise<void>
}
