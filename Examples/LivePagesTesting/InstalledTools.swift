import LivePages

/// The tools without which tests are skipped.
package enum InstalledTools {
    /// A message for each tool that is missing, with the command that installs it.
    package static var missing: [String] {
        var missing: [String] = []
        if !Chrome.isAvailable { missing.append(Chrome.missing) }
        if Pictures.scaler == nil {
            missing.append("there is neither vipsthumbnail nor convert: apt-get install libvips-tools")
        }
        if Chrome.axe == nil { missing.append("axe-core is missing: make test-web installs it") }
        return missing
    }
}
