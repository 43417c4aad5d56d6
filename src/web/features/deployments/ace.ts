import ace from 'ace-builds'
import 'ace-builds/src-noconflict/ext-searchbox'
import 'ace-builds/src-noconflict/mode-yaml'
import yamlWorker from 'ace-builds/src-noconflict/worker-yaml?url'

// The policy of the page lets workers come from its own origin only, not from blobs.
ace.config.set('loadWorkerFromBlob', false)
ace.config.setModuleUrl('ace/mode/yaml_worker', yamlWorker)

/** Its colours are the console's own (configuration.scss), so that it follows the theme without being told. */
export const theme = { cssClass: 'ace-quarterdeck', cssText: '', isDark: false }
