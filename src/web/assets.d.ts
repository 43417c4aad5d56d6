/** A CSS module: generated class names by the names in its file. */
declare module '*.module.scss' {
  const styles: Readonly<Record<string, string>>
  // eslint-disable-next-line import-x/no-default-export -- as css-loader exports them
  export default styles
}
declare module '*.css'
declare module '*.scss'
/** The prefix of the URLs from which webpack's runtime loads chunks and assets. */
declare let __webpack_public_path__: string
declare module '*?url' {
  const url: string
  // eslint-disable-next-line import-x/no-default-export -- webpack's asset modules have nothing else
  export default url
}
