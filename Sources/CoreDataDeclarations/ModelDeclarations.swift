import CoreDataPrimitives

/// The model declarations of a Swift file. `coredata-port`, which parses Swift, sends them to the program that compiles
/// models.
///
///     enum LibraryModel {                                              // typeName
///         static let currentVersion = "Library 2"                      // currentVersion
///         static let versions: [String: …] = ["Library": library]      // versions
///         static func library() throws -> NSManagedObjectModel { … }   // models
///     }
package struct ModelDeclarations: Codable, Equatable, Sendable {
    package struct Version: Codable, Equatable, Sendable {
        package var name: String
        /// The name of the function that makes the model.
        package var function: String
        package var place: SourceLocation

        package init(name: String, function: String, place: SourceLocation) {
            self.name = name
            self.function = function
            self.place = place
        }
    }

    package struct Model: Codable, Equatable, Sendable {
        /// The name of the function or constant that declares the model.
        package var name: String
        /// The call of `NSManagedObjectModel`.
        package var call: SwiftExpression

        package init(name: String, call: SwiftExpression) {
            self.name = name
            self.call = call
        }
    }

    /// A declaration that is not supported or not valid Swift.
    package struct Problem: Codable, Equatable, Sendable {
        package var message: String
        package var place: SourceLocation

        package init(_ message: String, at place: SourceLocation) {
            self.message = message
            self.place = place
        }
    }

    package var typeName: String?
    package var currentVersion: String?
    package var versions: [Version] = []
    package var models: [Model] = []
    package var problems: [Problem] = []
    /// The end of the file.
    package var end: SourceLocation

    package init(end: SourceLocation) { self.end = end }
}
