const path = require('node:path')
const zlib = require('node:zlib')
const CssMinimizerPlugin = require('css-minimizer-webpack-plugin')
const HtmlWebpackPlugin = require('html-webpack-plugin')
const MiniCssExtractPlugin = require('mini-css-extract-plugin')
const TerserPlugin = require('terser-webpack-plugin')
const { DefinePlugin } = require('webpack')

/** Says after each production build what the first page costs, and leaves the figure where a test reads it. */
class LoginPageSize {
  apply(compiler) {
    compiler.hooks.afterEmit.tap('LoginPageSize', ({ chunkGroups, outputOptions }) => {
      const sizeOf = (file) =>
        zlib.gzipSync(compiler.outputFileSystem.readFileSync(path.join(outputOptions.path, file))).length
      const sizesOf = (some) => {
        const files = some.flatMap((group) => group.getFiles()).filter((file) => /\.(js|css)$/.test(file))
        return Object.fromEntries([...new Set(files)].map((file) => [file, sizeOf(file)]))
      }
      const sum = (sizes) => Object.values(sizes).reduce((total, size) => total + size, 0)
      // What the browser loads for the first paint of /login: the entry and the lazy chunk of the login page.
      const groups = chunkGroups.filter((group) => group.isInitial() || group.name === 'page-login')
      const first = sizesOf(groups)
      // Other ways to sign in, loaded after the first paint.
      const later = sizesOf(chunkGroups.filter((group) => group.name === 'other-ways'))
      for (const file of Object.keys(first)) delete later[file]
      // They do not count: texts are shown in a font of the system until they are loaded.
      const fonts = sizesOf(chunkGroups.filter((group) => group.name === 'fonts'))
      const total = sum(first)
      compiler.outputFileSystem.writeFileSync(
        path.join(outputOptions.path, '../login-page-size.json'),
        `${JSON.stringify({ total, files: first, laterTotal: sum(later), laterFiles: later, fonts }, null, 2)}\n`,
      )
      console.log(`Login page: ${(total / 1000).toFixed(1)} kB gzip (JavaScript and CSS)`)
    })
  }
}

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

module.exports = (env, { mode = 'production' }) => {
  const production = mode === 'production'
  const platform = process.env.QUARTERDECK_PLATFORM_URL ?? `http://127.0.0.1:${process.env.QUARTERDECK_PORT || '8080'}`
  return {
    mode,
    entry: './src/web/main.tsx',
    output: {
      path: path.resolve(__dirname, 'dist/web'),
      filename: production ? 'assets/[name].[contenthash:8].js' : 'assets/[name].js',
      chunkFilename: production ? 'assets/[id].[contenthash:7].js' : 'assets/[name].js',
      assetModuleFilename: 'assets/[name].[contenthash:8][ext]',
      publicPath: '/',
      clean: true,
    },
    devtool: production ? false : 'source-map',
    resolve: {
      extensions: ['.tsx', '.ts', '.js'],
      // Without the alias react-ace brings its diff and split editors along.
      alias: {
        'react-ace$': path.resolve(__dirname, 'node_modules/react-ace/lib/ace.mjs'),
        // The package's exports name its development build only.
        ...(production && {
          'react-router$': path.resolve(__dirname, 'node_modules/react-router/dist/production/index.mjs'),
          'react-router/dom$': path.resolve(__dirname, 'node_modules/react-router/dist/production/dom-export.mjs'),
        }),
      },
    },
    module: {
      rules: [
        {
          test: /\.tsx?$/,
          exclude: /node_modules/,
          loader: 'babel-loader',
          options: { cacheDirectory: path.resolve(__dirname, '.cache/babel') },
        },
        { resourceQuery: /url/, type: 'asset/resource' },
        // Outside assets/, whose names change with their content: index.html is written before this one is minified.
        { test: /public[\\/]theme\.js$/, type: 'asset/resource', generator: { filename: 'theme.js' } },
        {
          test: /\.s?css$/,
          use: [
            // Style sheets are in assets/. The path that the console is served below is not known here.
            { loader: MiniCssExtractPlugin.loader, options: { publicPath: '../' } },
            {
              loader: 'css-loader',
              options: {
                modules: {
                  // Only *.module.scss; `pure` refuses a selector without a class of its module.
                  auto: true,
                  mode: 'pure',
                  namedExport: false,
                  localIdentName: production ? '[hash:base64:6]' : '[name]__[local]',
                },
              },
            },
            {
              loader: 'sass-loader',
              // Bootstrap 5.3 is written for @import; its own warnings are not ours to fix.
              options: { sassOptions: { quietDeps: true, silenceDeprecations: ['import'] } },
            },
          ],
        },
      ],
    },
    plugins: [
      new HtmlWebpackPlugin({ template: './public/index.html', favicon: './public/favicon.svg' }),
      new MiniCssExtractPlugin({
        filename: production ? 'assets/[name].[contenthash:8].css' : 'assets/[name].css',
        chunkFilename: production ? 'assets/[id].[contenthash:7].css' : 'assets/[name].css',
      }),
      new DefinePlugin({ __BUILD__: JSON.stringify(process.env.QUARTERDECK_BUILD ?? 'development') }),
      ...(production ? [new LoginPageSize(), new BundledPackages()] : []),
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
    },
    performance: { hints: false },
    stats: 'errors-warnings',
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
