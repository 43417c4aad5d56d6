import type { Ace } from 'ace-builds'
import ace from 'ace-builds'
import 'ace-builds/src-noconflict/ext-searchbox'
import 'ace-builds/src-noconflict/mode-yaml'
import yamlWorker from 'ace-builds/src-noconflict/worker-yaml?url'
import 'ace-builds/css/ace.css'
import '../styles/monospace.scss'
import '../styles/ace.scss'

// The Content-Security-Policy allows no style sheets inserted by script.
ace.config.set('useStrictCSP', true)
// It allows workers from the page's own origin only, not from blobs.
ace.config.set('loadWorkerFromBlob', false)
ace.config.setModuleUrl('ace/mode/yaml_worker', yamlWorker)

/** The colours are defined in styles/ace.scss. */
const aceTheme = { cssClass: 'ace-quarterdeck', cssText: '', isDark: false }

/**
 * Gives an editor the console's theme, and leaves the console its shortcuts: Ctrl+Shift+L exports the action log,
 * Ctrl+K opens the palette.
 */
export function beginEditor(editor: Ace.Editor) {
  editor.renderer.setTheme(aceTheme)
  editor.commands.removeCommand('expandtoline')
  const bindKey = { win: 'F3', mac: 'Command-G' }
  editor.commands.addCommand({ name: 'findnext', bindKey, exec: (current: Ace.Editor) => current.findNext() })
}
