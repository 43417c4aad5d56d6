import ace from 'ace-builds'
import 'ace-builds/src-noconflict/ext-searchbox'
import '../styles/ace.scss'

// The policy of the page lets workers come from its own origin only, not from blobs.
ace.config.set('loadWorkerFromBlob', false)

/** Its colours are the console's own (styles/ace.scss). */
export const theme = { cssClass: 'ace-quarterdeck', cssText: '', isDark: false }
