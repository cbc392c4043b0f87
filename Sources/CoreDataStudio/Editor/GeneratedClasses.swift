import CoreDataCodeGeneration
import CoreDataModel

/// The Swift classes of a model, for display.
enum GeneratedClasses {
    static func files(of document: ModelDocument, named name: String) throws(ModelFailure) -> [GeneratedFile] {
        var options = GenerationOptions()
        options.includesManual = true
        return try ClassGeneration(document, modelName: name, options: options).files
    }
}
