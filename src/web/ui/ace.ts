import type { Ace } from 'ace-builds'
import ace from 'ace-builds'
import 'ace-builds/src-noconflict/ext-searchbox'
import 'ace-builds/src-noconflict/mode-yaml'
import yamlWorker from 'ace-builds/src-noconflict/worker-yaml?url'
import '../styles/monospace.scss'
import '../styles/ace.scss'

// The Content-Security-Policy allows workers from the page's own origin only, not from blobs.
ace.config.set('loadWorkerFromBlob', false)
ace.config.setModuleUrl('ace/mode/yaml_worker', yamlWorker)

/** The colours are defined in styles/ace.scss. */
const aceTheme = { cssClass: 'ace-quarterdeck', cssText: '', isDark: false }

/**
 * Gives an editor the console's theme. Removes its command for Ctrl+Shift+L, the console's shortcut for exporting the
 * action log.
 */
export function beginEditor(editor: Ace.Editor) {
  editor.renderer.setTheme(aceTheme)
  editor.commands.removeCommand('expandtoline')
}
