import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { signUpByCalls } from '../support/browser/productCalls'
import { startProduct } from '../support/browser/startProduct'
import { makeSampleNetwork } from './sampleNetwork'

/** Where `takePictures` finds a sample that runs. */
const ADDRESS = join(__dirname, '../../.cache/sample.json')

/** Runs the built product with the sample network until it is interrupted, for `takePictures` and for `npm run dev`. */
async function main(): Promise<void> {
  const product = await startProduct({ QUARTERDECK_SAMPLE: 'off' })
  process.once('SIGINT', () => void product.stop().then(product.close))
  process.once('SIGTERM', () => void product.stop().then(product.close))
  const { call, token } = await signUpByCalls(product)
  await makeSampleNetwork(product, call).catch(async (error: unknown) => {
    await product.close()
    throw error
  })
  mkdirSync(join(ADDRESS, '..'), { recursive: true })
  writeFileSync(ADDRESS, JSON.stringify({ url: product.url, token }))
  console.log(`The sample network runs at ${product.url}. Its session is in the cookie token=${token}; isAdmin=1`)
}

void main()
