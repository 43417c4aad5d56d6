import { FilesPage as Page } from '../../features/files/FilesPage'
import { filesPart } from './filesPart'
import { withPart } from './withPart'

export const FilesPage = withPart(filesPart, Page)
