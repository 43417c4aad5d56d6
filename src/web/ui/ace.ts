import ace from 'ace-builds'
import 'ace-builds/src-noconflict/ext-searchbox'
import 'ace-builds/src-noconflict/mode-yaml'
import yamlWorker from 'ace-builds/src-noconflict/worker-yaml?url'
import '../styles/ace.scss'

// The Content-Security-Policy allows workers from the page's own origin only, not from blobs.
ace.config.set('loadWorkerFromBlob', false)
ace.config.setModuleUrl('ace/mode/yaml_worker', yamlWorker)

/** The colours are defined in styles/ace.scss. */
export const aceTheme = { cssClass: 'ace-quarterdeck', cssText: '', isDark: false }
