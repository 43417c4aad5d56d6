import { Suspense } from 'react'
import { useSelector } from 'react-redux'
import { lazyEarly } from '../../chunks'
import { selectInterruption } from '../../deploymentPower/interruptionSlice'
import { selectShown } from './paletteSlice'
import { useShortcuts } from './useShortcuts'

// Shares a chunk with the problem log, because every chunk enlarges the first one, which lists them all.
const PaletteDialog = lazyEarly(
  async () => (await import(/* webpackChunkName: 'header-dialogs' */ './PaletteDialog')).PaletteDialog,
)
const ShortcutsDialog = lazyEarly(
  async () => (await import(/* webpackChunkName: 'header-dialogs' */ './ShortcutsDialog')).ShortcutsDialog,
)

const InterruptionDialog = lazyEarly(
  async () =>
    (await import(/* webpackChunkName: 'header-dialogs' */ '../../deploymentPower/InterruptionDialog'))
      .InterruptionDialog,
)

/** The command palette with the shortcuts of all pages, and the confirmation of a change that interrupts instances. */
export function Palette() {
  const shown = useSelector(selectShown)
  const interruption = useSelector(selectInterruption)
  useShortcuts()
  return (
    <Suspense>
      {shown === 'commands' && <PaletteDialog />}
      {shown === 'shortcuts' && <ShortcutsDialog />}
      {interruption && <InterruptionDialog {...interruption} />}
    </Suspense>
  )
}
