/// An error of the targets below the public API, or of that API's own machinery: a user never sees one as it is.
///
/// Where an error leaves the framework, one that conforms becomes a `CocoaError`; any other is the program's own, or Foundation's, and stays
/// what it is.
package protocol EngineFailure: Error {}
