import { delimiter } from 'node:path'
import { folder as ferretdbFolder } from '../ferretdbProgram'
import { hasProgram } from './hasProgram'

/** A PATH on which there is a MongoDB server to run: the machine's mongod, else the FerretDB that was built for the tests. */
export const mongoPath: string | undefined = hasProgram('mongod')
  ? process.env.PATH
  : ferretdbFolder() && [ferretdbFolder(), process.env.PATH].join(delimiter)
