import CoreDataModel
import Foundation
import TestSupport

@testable import CoreDataCodeGeneration

/// A model as its author writes it, in a file of its own, and what is generated from it.
struct ModelSource {
    let url: URL

    /// - Parameter body: what stands inside the `model` element.
    init(_ body: String) throws {
        url = try Fixtures.temporaryFolder().appendingPathComponent("Shop.xcdatamodel")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try Data("<model>\n\(body)\n</model>".utf8).write(to: url.appendingPathComponent("contents"))
    }

    func generation(_ options: GenerationOptions = GenerationOptions()) throws -> ClassGeneration {
        let document = try ModelReader.read(contentsOf: url).current ?? ModelDocument()
        return try ClassGeneration(document, modelName: "Shop", options: options)
    }

    /// The text of each file by name, without the lines that every file begins with.
    func texts(_ options: GenerationOptions = GenerationOptions()) throws -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: try generation(options).files.map { file in
                (file.name, file.text.components(separatedBy: "#endif\n\n").last ?? "")
            })
    }
}

extension GenerationOptions {
    init(_ style: Style = .xcode, access: AccessLevel = .public, includesManual: Bool = false) {
        self.init()
        self.style = style
        accessLevel = access
        self.includesManual = includesManual
    }
}
