import ace from 'ace-builds'
import 'ace-builds/src-noconflict/mode-ini'
import 'ace-builds/src-noconflict/mode-javascript'
import 'ace-builds/src-noconflict/mode-json'
import 'ace-builds/src-noconflict/mode-properties'
import 'ace-builds/src-noconflict/mode-sh'
import 'ace-builds/src-noconflict/mode-toml'
import 'ace-builds/src-noconflict/mode-xml'
import jsonWorker from 'ace-builds/src-noconflict/worker-json?url'
import xmlWorker from 'ace-builds/src-noconflict/worker-xml?url'
import '../../../ui/ace'

ace.config.setModuleUrl('ace/mode/json_worker', jsonWorker)
ace.config.setModuleUrl('ace/mode/xml_worker', xmlWorker)

const modes: Record<string, string> = {
  yaml: 'yaml',
  yml: 'yaml',
  json: 'json',
  mcmeta: 'json',
  properties: 'properties',
  toml: 'toml',
  ini: 'ini',
  cfg: 'ini',
  conf: 'ini',
  sh: 'sh',
  js: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  xml: 'xml',
}

/** By extension. All other files, logs for example, are plain text. */
export function modeOf(name: string): string {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''
  return (Object.hasOwn(modes, extension) && modes[extension]) || 'text'
}

/** Ace's JavaScript worker knows an old version of the language only and reports errors in valid scripts. */
export const hasWorker = (mode: string) => mode !== 'javascript'
