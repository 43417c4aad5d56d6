import { basePath } from './basePath'

// Chunks and their assets are loaded from below the base path. Imported before all modules that have assets.
__webpack_public_path__ = `${basePath()}/`
