import Foundation

/// A struct whose stored properties are the columns of a fetch: the fastest rows of your own type.
///
///     struct Row: FetchedRow {
///         var name: String
///         var price: Double?
///         var unit: UnitName?             // the destination of the to-one
///         struct UnitName: FetchedRow { var name: String }
///     }
///     let rows = try context.fetch(request, as: Row.self)
///     // SELECT t0.ZNAME, t0.ZPRICE, t0.ZUNIT, t1.ZNAME FROM ZITEM t0 LEFT OUTER JOIN ZUNIT t1 ON t1.Z_PK = t0.ZUNIT
///
/// Declare only the conformance. Each stored property is a ``FetchedValue`` (every attribute type, a ``PersistentID``,
/// an enumeration that conforms, optionals of these), or is a row itself. A statement writes its values directly into
/// the rows' memory, so **no initialiser runs, and initial values of properties do not count**: compute values that are
/// no columns, or keep them elsewhere. To check rows or to make them in another way, let the type be `Decodable`, which
/// takes about twice the time.
///
/// Not in Apple's API.
public protocol FetchedRow {
    /// Key paths of properties that are called otherwise in the model.
    ///
    ///     static let fetchedKeyPaths = ["unitName": "unit.name"]
    ///
    /// Names that are not in it are the model's.
    static var fetchedKeyPaths: [String: String] { get }
}

extension FetchedRow {
    /// Every property is called as in the model.
    public static var fetchedKeyPaths: [String: String] { [:] }
}
