import Foundation

/// A struct whose stored properties are the columns of a fetch: the fastest rows of a type of yours.
///
///     struct Row: FetchedRow {
///         var name: String
///         var price: Double?
///         var unit: UnitName?             // what the to-one leads to
///         struct UnitName: FetchedRow { var name: String }
///     }
///     let rows = try context.fetch(request, as: Row.self)
///     // SELECT t0.ZNAME, t0.ZPRICE, t0.ZUNIT, t1.ZNAME FROM ZITEM t0 LEFT OUTER JOIN ZUNIT t1 ON t1.Z_PK = t0.ZUNIT
///
/// There is nothing to write but the conformance. Each stored property is of a type that is a ``FetchedValue`` (every attribute type, a
/// ``PersistentID``, an enumeration that says so, optionals of these), or is a row itself. A statement puts its values straight into the
/// rows' memory, so that **no initialiser runs, and initial values of properties do not count**: what is no column is to be computed, or kept
/// elsewhere. Where rows are to be checked or made otherwise, let the type be `Decodable`, which takes about twice the time.
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
