declare module '*.scss'
declare module '*?url' {
  const url: string
  // eslint-disable-next-line import-x/no-default-export -- webpack's asset modules have nothing else
  export default url
}
