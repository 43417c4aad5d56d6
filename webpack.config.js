const { readFileSync } = require('node:fs')
const path = require('node:path')
const zlib = require('node:zlib')
const { minifySync } = require('@swc/core')
const CssMinimizerPlugin = require('css-minimizer-webpack-plugin')
const HtmlWebpackPlugin = require('html-webpack-plugin')
const MiniCssExtractPlugin = require('mini-css-extract-plugin')
const TerserPlugin = require('terser-webpack-plugin')
const { Compilation, DefinePlugin, NormalModuleReplacementPlugin, optimize, sources } = require('webpack')
const { ConcatSource } = sources

/** The file of the login page, the only one with markup. */
const LOGIN_PAGE = 'login.html'

/** Pages after sign-in (src/contract/pageRoutes.ts). */
const PAGES = ['overview', 'deployments', 'configuration', 'instance', 'files', 'databases', 'admin', 'account']

/** The chunks of the page that most sign-ins lead to. */
const NEXT = ['layout', 'page-overview']

/** Chunks that the pages after sign-in load, from their start or in idle time. */
const SIGNED_IN = new Set([
  ...PAGES.map((name) => `page-${name}`),
  ...['layout', 'socket', 'header-dialogs', 'sessions', 'password', 'export-log', 'transfers', 'sign-in-notices'],
])

/** Whether at least two pages after sign-in have a module, or the parts that each of them loads. */
function isShared(module, { chunkGraph }) {
  const names = [...chunkGraph.getModuleChunksIterable(module)].map(({ name }) => name)
  return (
    names.includes('layout') ||
    names.includes('socket') ||
    names.includes('sign-in-notices') ||
    names.filter((name) => SIGNED_IN.has(name) && name.startsWith('page-')).length > 1
  )
}

/** An inline script of a page, as small as it can be. */
const inlineScript = (name) =>
  minifySync(readFileSync(path.join(__dirname, 'public', name), 'utf8'), { compress: true, mangle: true }).code

/** Whether the pages' files contain an asset: webpack's runtime and the style sheet of every page. */
const isInlined = (file) => /\/(?:runtime\.\w+\.js|main\.\w+\.css)$/.test(file)

/** Variants of Bootstrap's fields and buttons that the console has none of. */
const UNUSED_RULES = /[^{}]*(?:form-control-(?:color|plaintext|lg)|btn-lg)[^{}]*\{[^{}]*\}/g

/** Removes these rules, and Bootstrap's variables that no style sheet and no script of the console names. */
function withoutUnusedStyles(css, { assets }) {
  const others = Object.keys(assets)
    .filter((file) => /\.(?:js|css)$/.test(file) && !isInlined(file))
    .map((file) => assets[file].source().toString())
    .join('\n')
  let rest = css.replace(UNUSED_RULES, '')
  for (const [name] of css.matchAll(/--bs-[\w-]+(?=:)/g)) {
    const isNamed = (text) => new RegExp(`${name}(?![\\w-]|:)`).test(text)
    if (!isNamed(rest) && !isNamed(others)) rest = rest.replaceAll(new RegExp(`${name}:[^;}]*;?`, 'g'), '')
  }
  return rest
}

/**
 * Puts assets into the pages' files, so that the browser paints after one answer, and names the chunks of each page
 * there. The content security policy names the inline scripts by their hashes (src/platform/http/routes/pageFile.ts).
 */
class InlinedAssets {
  apply(compiler) {
    compiler.hooks.compilation.tap('InlinedAssets', (compilation) => {
      const sourceOf = (url) => compilation.getAsset(url.replace(/^\//, '')).source.source().toString()
      HtmlWebpackPlugin.getHooks(compilation).alterAssetTagGroups.tap('InlinedAssets', (data) => {
        for (const tag of data.headTags) {
          const { href = '', src = '' } = tag.attributes
          // The style sheet stands in assets/, the page does not.
          if (isInlined(href))
            Object.assign(tag, {
              tagName: 'style',
              attributes: {},
              voidTag: false,
              innerHTML: withoutUnusedStyles(sourceOf(href), compilation).replaceAll('url(../', 'url(/'),
            })
          if (isInlined(src)) Object.assign(tag, { attributes: {}, innerHTML: sourceOf(src) })
        }
        const { chunkNames, nextChunkNames } = data.plugin.userOptions
        const filesOf = (names) => [
          ...new Set(names.flatMap((name) => compilation.namedChunkGroups.get(name).getFiles())),
        ]
        // The entry loads these chunks when it runs; the browser may fetch them beside it.
        for (const file of filesOf(chunkNames)) {
          const attributes = { rel: 'preload', as: file.endsWith('.css') ? 'style' : 'script', href: `/${file}` }
          data.headTags.push({ tagName: 'link', attributes, voidTag: true, meta: {} })
        }
        // public/early.js has them fetched when this page is loaded.
        const links = filesOf(nextChunkNames).map((file) => `<link rel="prefetch" href="/${file}">`)
        if (links.length > 0)
          data.headTags.push({
            tagName: 'template',
            attributes: {},
            innerHTML: links.join(''),
            voidTag: false,
            meta: {},
          })
        return data
      })
      const stage = Compilation.PROCESS_ASSETS_STAGE_REPORT
      compilation.hooks.processAssets.tap({ name: 'InlinedAssets', stage }, (assets) => {
        for (const file of Object.keys(assets)) if (isInlined(file)) compilation.deleteAsset(file)
      })
    })
  }
}

/** Chunks that run before a page is shown. */
const FIRST = new Set(['main', 'frame', 'page-login', 'page-register', ...SIGNED_IN])

/**
 * Asks V8 to compile all functions of the first chunks beside the main thread, while they are loaded (explicit compile
 * hints: https://v8.dev/blog/explicit-compile-hints). Most of them run before the page is shown.
 */
class CompileHints {
  apply(compiler) {
    compiler.hooks.compilation.tap('CompileHints', (compilation) => {
      // After the minimizer, which removes comments, and before the hashes of the contents.
      const stage = Compilation.PROCESS_ASSETS_STAGE_OPTIMIZE_SIZE + 1
      compilation.hooks.processAssets.tap({ name: 'CompileHints', stage }, () => {
        for (const { name, files } of compilation.chunks)
          for (const file of FIRST.has(name) ? files : [])
            if (file.endsWith('.js'))
              compilation.updateAsset(file, (source) => new ConcatSource('//# allFunctionsCalledOnLoad\n', source))
      })
    })
  }
}

/** Says after each production build what the first page costs, and leaves the figure where a test reads it. */
class LoginPageSize {
  apply(compiler) {
    compiler.hooks.afterEmit.tap('LoginPageSize', ({ chunkGroups, outputOptions }) => {
      const read = (file) => compiler.outputFileSystem.readFileSync(path.join(outputOptions.path, file))
      const sizeOf = (bytes) => zlib.gzipSync(bytes).length
      const sizesOf = (some) => {
        const files = some.flatMap((group) => group.getFiles()).filter((file) => /\.(js|css)$/.test(file))
        return Object.fromEntries(
          [...new Set(files)].filter((file) => !isInlined(file)).map((file) => [file, sizeOf(read(file))]),
        )
      }
      const sum = (sizes) => Object.values(sizes).reduce((total, size) => total + size, 0)
      // What the browser loads for /login: what stands in its file, the entry and the lazy chunk of the login page.
      const page = read(LOGIN_PAGE).toString()
      const inlined = [...page.matchAll(/<(style|script)>(.*?)<\/\1>/gs)].map(([, , text]) => text).join('\n')
      const groups = chunkGroups.filter((group) => group.isInitial() || group.name === 'page-login')
      const first = { ...sizesOf(groups), [`${LOGIN_PAGE} (inlined)`]: sizeOf(inlined) }
      // Other ways to sign in, loaded after the first paint.
      const later = sizesOf(chunkGroups.filter((group) => group.name === 'other-ways'))
      for (const file of Object.keys(first)) delete later[file]
      // The pages after sign-in, which the browser fetches when this page is loaded.
      const next = sizesOf(chunkGroups.filter((group) => NEXT.includes(group.name)))
      const total = sum(first)
      compiler.outputFileSystem.writeFileSync(
        path.join(outputOptions.path, '../login-page-size.json'),
        `${JSON.stringify({ total, files: first, laterTotal: sum(later), laterFiles: later, next }, null, 2)}\n`,
      )
      console.log(`Login page: ${(total / 1000).toFixed(1)} kB gzip (JavaScript and CSS)`)
    })
  }
}

/** The sources of apexcharts, whose own build has all kinds of charts in one script. */
const APEXCHARTS = path.resolve(__dirname, 'node_modules/apexcharts/src')

/** The kinds of charts that no page has. The core of apexcharts constructs some of them for every chart. */
const UNUSED_CHARTS = /\/charts\/(?:Bar|BarStacked|BoxCandleStick|HeatMap|Pie|Radar|Radial|RangeBar|Treemap)$/

/** What moves and resizes selections, which the charts of the console do not have. */
const UNUSED_PLUGINS = /^@svgdotjs\/svg\.(?:draggable|select|resize)\.js$/

/** Leaves the folders of the packages that the console contains where `src/notices.js` reads them. */
class BundledPackages {
  apply(compiler) {
    compiler.hooks.afterEmit.tap('BundledPackages', ({ modules, outputOptions }) => {
      // webpack's own runtime is in every build.
      const folders = new Set(['node_modules/webpack'])
      for (const module of modules) {
        for (const { resource = '' } of module.modules ?? [module]) {
          const [, folder] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path.relative(__dirname, resource)) ?? []
          if (folder) folders.add(folder)
        }
      }
      compiler.outputFileSystem.writeFileSync(
        path.join(outputOptions.path, '../bundled-packages.json'),
        `${JSON.stringify([...folders].sort(), null, 2)}\n`,
      )
    })
  }
}

/**
 * A page's file.
 * @param {string} filename
 * @param {string[]} [chunkNames] the chunks that the page loads
 * @param {string[]} [nextChunkNames] those of the page that most likely follows
 * @param {() => Promise<string>} [render] its markup
 */
const pageFile = (filename, chunkNames = [], nextChunkNames = [], render = async () => '') =>
  new HtmlWebpackPlugin({
    filename,
    chunkNames,
    nextChunkNames,
    template: './public/index.html',
    favicon: './public/favicon.svg',
    templateParameters: async () => {
      // React puts the title first.
      const [, title = 'Quarterdeck', markup] = /^(?:<title>([^<]*)<\/title>)?(.*)$/s.exec(await render())
      return {
        title,
        markup,
        theme: inlineScript('theme.js'),
        early: inlineScript('early.js'),
        firstResponses: chunkNames.includes('layout') ? inlineScript('firstResponses.js') : '',
      }
    },
    // Comments and white space in the markup belong to React.
    minify: false,
  })

/** @param {object} cssOptions for `modules` of css-loader @param {object[]} first loaders */
const styleRule = (cssOptions, ...first) => ({
  test: /\.s?css$/,
  use: [
    ...first,
    {
      loader: 'css-loader',
      options: {
        modules: {
          // Only *.module.scss; `pure` refuses a selector without a class of its module.
          auto: true,
          mode: 'pure',
          namedExport: false,
          ...cssOptions,
        },
      },
    },
    {
      loader: 'sass-loader',
      // Bootstrap 5.3 is written for @import; its own warnings are not ours to fix.
      options: { sassOptions: { quietDeps: true, silenceDeprecations: ['import'] } },
    },
  ],
})

/** What the console and its markup have in common. */
const commonOf = (mode) => ({
  mode,
  resolve: {
    extensions: ['.tsx', '.ts', '.js'],
    // Without the alias react-ace brings its diff and split editors along.
    alias: {
      'react-ace$': path.resolve(__dirname, 'node_modules/react-ace/lib/ace.mjs'),
      apexcharts$: path.join(APEXCHARTS, 'apexcharts.js'),
      // The package's exports name its development build only.
      ...(mode === 'production' && {
        'react-router$': path.resolve(__dirname, 'node_modules/react-router/dist/production/index.mjs'),
        'react-router/dom$': path.resolve(__dirname, 'node_modules/react-router/dist/production/dom-export.mjs'),
      }),
    },
  },
  performance: { hints: false },
  // apexcharts would insert its style sheet by script; here it is extracted (GroupedChart.tsx), so it has no exports.
  ignoreWarnings: [/'apexCSS'/],
  stats: 'errors-warnings',
})

const scriptRules = [
  {
    test: /\.tsx?$/,
    exclude: /node_modules/,
    loader: 'babel-loader',
    options: { cacheDirectory: path.resolve(__dirname, '.cache/babel') },
  },
  { resourceQuery: /url/, type: 'asset/resource' },
  { test: /\.svg$/, include: APEXCHARTS, type: 'asset/source' },
]

const definitions = { __BUILD__: JSON.stringify(process.env.QUARTERDECK_BUILD ?? 'development') }

function consoleConfig(mode) {
  const production = mode === 'production'
  const platform = process.env.QUARTERDECK_PLATFORM_URL ?? `http://127.0.0.1:${process.env.QUARTERDECK_PORT || '8080'}`
  return {
    ...commonOf(mode),
    name: 'console',
    entry: './src/web/main.tsx',
    output: {
      path: path.resolve(__dirname, 'dist/web'),
      filename: production ? 'assets/[name].[contenthash:8].js' : 'assets/[name].js',
      chunkFilename: production ? 'assets/[id].[contenthash:6].js' : 'assets/[name].js',
      assetModuleFilename: 'assets/[name].[contenthash:8][ext]',
      publicPath: '/',
      clean: true,
    },
    devtool: production ? false : 'source-map',
    module: {
      rules: [
        ...scriptRules,
        styleRule(
          { localIdentName: production ? '[hash:base64:6]' : '[name]__[local]' },
          // Style sheets are in assets/. The path that the console is served below is not known here.
          { loader: MiniCssExtractPlugin.loader, options: { publicPath: '../' } },
        ),
      ],
    },
    plugins: [
      pageFile('index.html'),
      new MiniCssExtractPlugin({
        filename: production ? 'assets/[name].[contenthash:8].css' : 'assets/[name].css',
        chunkFilename: production ? 'assets/[id].[contenthash:6].css' : 'assets/[name].css',
      }),
      new DefinePlugin(definitions),
      new NormalModuleReplacementPlugin(UNUSED_CHARTS, 'data:text/javascript,export default class {}'),
      new NormalModuleReplacementPlugin(UNUSED_PLUGINS, 'data:text/javascript,export {}'),
      ...(production
        ? [
            pageFile(LOGIN_PAGE, ['page-login'], NEXT, renderLogin),
            pageFile('register.html', ['page-register']),
            ...PAGES.map((name) => pageFile(`${name}.html`, ['layout', `page-${name}`, 'socket'])),
            new CompileHints(),
            new InlinedAssets(),
            new LoginPageSize(),
            new BundledPackages(),
          ]
        : []),
    ],
    optimization: {
      minimizer: [
        new TerserPlugin({
          minify: TerserPlugin.swcMinify,
          terserOptions: { ecma: 2022, compress: { ecma: 2022, passes: 3 }, mangle: true },
          extractComments: false,
        }),
        new CssMinimizerPlugin(),
      ],
      runtimeChunk: 'single',
      splitChunks: {
        cacheGroups: {
          // One script and one style sheet for all pages after sign-in, beside those of the page itself.
          frame: {
            name: 'frame',
            chunks: ({ name }) => SIGNED_IN.has(name),
            test: isShared,
            enforce: true,
            priority: 10,
          },
        },
      },
    },
    devServer: {
      port: Number(process.env.QUARTERDECK_DEV_PORT ?? 8081),
      host: '127.0.0.1',
      historyApiFallback: true,
      client: { overlay: { warnings: false } },
      // To the other server it must look as if the page came from there: sockets are refused to foreign origins.
      proxy: [
        {
          context: ['/api', '/socket.io'],
          target: platform,
          ws: true,
          changeOrigin: true,
          headers: { origin: new URL(platform).origin },
        },
      ],
    },
  }
}

/** Where the code that renders the login page is built. */
const MARKUP = path.resolve(__dirname, '.cache/markup')

const renderLogin = () => require(path.join(MARKUP, 'main.js')).renderPage('/login')

/** The console for Node.js, which renders the markup of the login page (src/web/prerender.tsx). */
const markupConfig = (mode) => ({
  ...commonOf(mode),
  name: 'markup',
  target: 'node20',
  entry: './src/web/prerender.tsx',
  output: { path: MARKUP, library: { type: 'commonjs2' }, publicPath: '/' },
  devtool: false,
  module: { rules: [...scriptRules, styleRule({ exportOnlyLocals: true, localIdentName: '[hash:base64:6]' })] },
  // What it never renders, and what needs a browser from the start.
  externals: ({ request, contextInfo }, callback) =>
    contextInfo.issuer.endsWith('routes.tsx') &&
    /features\/(?!auth\/)|\/layout\/|\/pages\/|Register|historyGate/.test(request)
      ? callback(null, `var undefined`)
      : callback(),
  plugins: [new DefinePlugin(definitions), new optimize.LimitChunkCountPlugin({ maxChunks: 1 })],
  optimization: { minimize: false },
})

module.exports = (env, { mode = 'production' }) =>
  mode === 'production'
    ? [markupConfig(mode), { ...consoleConfig(mode), dependencies: ['markup'] }]
    : consoleConfig(mode)
