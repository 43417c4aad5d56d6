import { parentPort } from 'node:worker_threads'
import { AppError } from '../../errors'
import { fileFailure } from '../fileFailure'
import { createKeptListings, type ListingTask } from './keptListings'

/**
 * Entry point of a worker thread that lists directories: answers each task with a `ListingResponse` or an AppError's
 * parts.
 */
const listings = createKeptListings()

parentPort?.on('message', (task: ListingTask) => void perform(task))

async function perform(task: ListingTask): Promise<void> {
  try {
    parentPort?.postMessage(await listings.list(task))
  } catch (error) {
    const failure = fileFailure(error, task.path)
    // Anything else is a bug. It ends the thread, and `listing.ts` receives it as an 'error' event.
    if (!(failure instanceof AppError)) throw failure
    parentPort?.postMessage({ code: failure.code, message: failure.message })
  }
}
