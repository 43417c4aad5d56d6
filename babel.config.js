/** One configuration for three callers: webpack (console), the platform's build to dist, and jest. */
module.exports = (api) => {
  const forBrowser = api.caller((caller) => caller?.name === 'babel-loader')
  return {
    presets: [
      forBrowser
        ? [
            '@babel/preset-env',
            {
              targets: 'last 2 chrome versions, last 2 firefox versions, last 2 safari versions, last 2 edge versions',
              modules: false,
            },
          ]
        : ['@babel/preset-env', { targets: { node: '20.19' }, modules: 'commonjs' }],
      ['@babel/preset-react', { runtime: 'automatic' }],
      ['@babel/preset-typescript', { onlyRemoveTypeImports: true }],
    ],
  }
}
