import type { Middleware } from '@reduxjs/toolkit'
import { createDynamicMiddleware } from '@reduxjs/toolkit'
import type { AppDispatch, RootState } from './types'

const { middleware, addMiddleware } = createDynamicMiddleware()

export const dynamicMiddleware: Middleware = middleware

/** Adds the middleware of a page that loads later. Each store applies it once, before its next action. */
export const addAppMiddleware = addMiddleware.withTypes<{ state: RootState; dispatch: AppDispatch }>()
