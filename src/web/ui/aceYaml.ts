import ace from 'ace-builds'
import 'ace-builds/src-noconflict/mode-yaml'
import yamlWorker from 'ace-builds/src-noconflict/worker-yaml?url'

ace.config.setModuleUrl('ace/mode/yaml_worker', yamlWorker)
