import { Suspense } from 'react'
import { useSelector } from 'react-redux'
import { lazyEarly } from '../../chunks'
import { selectShown } from './paletteSlice'
import { useShortcuts } from './useShortcuts'

// In one chunk with the problem log: each chunk adds to the first one, which lists them all.
const PaletteDialog = lazyEarly(
  async () => (await import(/* webpackChunkName: 'header-dialogs' */ './PaletteDialog')).PaletteDialog,
)
const ShortcutsDialog = lazyEarly(
  async () => (await import(/* webpackChunkName: 'header-dialogs' */ './ShortcutsDialog')).ShortcutsDialog,
)

/** The command palette with the shortcuts of all pages. */
export function Palette() {
  const shown = useSelector(selectShown)
  useShortcuts()
  return (
    <Suspense>
      {shown === 'commands' && <PaletteDialog />}
      {shown === 'shortcuts' && <ShortcutsDialog />}
    </Suspense>
  )
}
