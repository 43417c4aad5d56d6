import { useLayoutEffect } from 'react'
import { useDispatch } from 'react-redux'
import { useLocation } from 'react-router-dom'
import { routeChanged } from './routeSlice'

/** Copies the route into the store, in a layout effect so that it precedes the page's own actions. */
export function RouteFollower() {
  const { pathname, search } = useLocation()
  const dispatch = useDispatch()
  useLayoutEffect(() => {
    dispatch(routeChanged(pathname + search))
  }, [pathname, search, dispatch])
  return null
}
