import { mongoPath } from './mongoPath'

/** For tests that need a MongoDB server: skipped with a note if there is none. */
export const testWithMongo = mongoPath === undefined ? test.skip : test

if (mongoPath === undefined)
  console.warn(
    'There is neither mongod nor FerretDB (it is built where Go is installed): the tests with MongoDB are SKIPPED.',
  )
