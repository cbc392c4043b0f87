import CoreDataPrimitives
import Foundation

/// Reads compiled models as Apple's tools archive them: the `.mom`, and the cached model of a store.
package enum ModelArchive {
    /// Reads a `.mom`: a keyed archive of an `NSManagedObjectModel`.
    package static func document(fromArchive data: Data) throws(ModelFailure) -> ModelDocument {
        let archive = try KeyedArchiveReader(data)
        guard let root = archive.root.object, root.className == "NSManagedObjectModel" else {
            let name = archive.root.object?.className ?? "nothing"
            throw ModelFailure(diagnostics: [Diagnostic(.error, "the archive holds \(name), not a model")])
        }
        var decoder = ModelArchiveDecoder()
        var document = decoder.document(root)
        document.origin = .compiled
        return document
    }

    /// Reads the model that a store was last opened with, from the content of its `Z_MODELCACHE` table.
    package static func document(fromModelCache data: Data) throws(ModelFailure) -> ModelDocument {
        var document = try document(fromArchive: try RawDeflate.decompress(data))
        document.origin = .cached
        return document
    }
}
