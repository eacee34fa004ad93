{
  "targets": [
    {
      "target_name": "seglog",
      "sources": ["<!@(node -p \"require('fs').readdirSync('native').filter(f=>f.endsWith('.cc')).sort().map(f=>'native/'+f).join(' ')\")"],
      "include_dirs": ["<!(node -p \"require('node-addon-api').include_dir\")"],
      "defines": ["NAPI_VERSION=8", "NODE_ADDON_API_DISABLE_CPP_EXCEPTIONS", "NODE_ADDON_API_DISABLE_DEPRECATED", "_FILE_OFFSET_BITS=64"],
      "cflags": ["-O2", "-Wall", "-Wextra", "-Wno-unused-parameter", "-fvisibility=hidden"],
      "cflags_cc": ["-std=c++17", "-fno-exceptions", "-fno-rtti", "-Wno-cast-function-type"],
      "cflags!": ["-O3"]
    }
  ]
}
