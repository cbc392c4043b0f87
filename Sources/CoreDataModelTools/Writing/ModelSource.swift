import CoreDataModel
import CoreDataPrimitives
import Foundation

/// A model in Xcode's source format:
///
///     Library.xcdatamodeld
///       .xccurrentversion
///       Library.xcdatamodel/contents
///       Library 2.xcdatamodel/contents
///
/// It only builds `files`; nothing is written to disk.
package struct ModelSource: Sendable {
    package let files: FileTree

    /// The folder of all versions, a `.xcdatamodeld`.
    package init(versions: ModelVersions) throws(ModelFailure) {
        var files: [String: Data] = [:]
        var problems: [Diagnostic] = []
        for version in versions.versions {
            do {
                files["\(version.name).xcdatamodel/contents"] = Data(
                    try ContentsWriter.text(of: version.document).utf8)
            } catch {
                problems += error.diagnostics
            }
        }
        if !problems.isEmpty { throw ModelFailure(diagnostics: problems) }
        if versions.versions.count > 1 || versions.namesCurrentVersion {
            files[".xccurrentversion"] = Data(Self.currentVersion(versions.currentName).utf8)
        }
        self.files = FileTree(files: files)
    }

    /// The folder of one version, a `.xcdatamodel`.
    package init(document: ModelDocument) throws(ModelFailure) {
        files = FileTree(files: ["contents": Data(try ContentsWriter.text(of: document).utf8)])
    }

    /// The content of `.xccurrentversion`.
    package static func currentVersion(_ name: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        <dict>
        \t<key>_XCCurrentVersionName</key>
        \t<string>\(MarkupWriter.escaped(name)).xcdatamodel</string>
        </dict>
        </plist>

        """
    }
}
