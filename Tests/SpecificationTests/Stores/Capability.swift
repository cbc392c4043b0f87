/// Something that a store can do and another may lack.
///
/// A test that needs one is tried on the stores that have it: `@Test(arguments: SpecifiedStore.having(.uniqueValues))`. A test whose result
/// differs without it says what it is then: `store.has(.notANumber) ? .double(.nan) : .null`.
enum Capability: String, CaseIterable, Sendable {
    /// Saves rows that belong to no object; a store without it is tried through contexts only.
    case rows
    /// Can be opened again after it was closed, also for reading only.
    case reopening
    /// Keeps former states for contexts that are pinned to a query generation.
    case formerStates
    /// Checks uniqueness constraints.
    case uniqueValues
    /// Computes derived attributes.
    case derivedAttributes
    /// Groups dictionaries, and computes expressions for them.
    case groupsAndExpressions
    /// Keeps all 38 digits of a decimal number.
    case exactDecimals
    /// Keeps NaN, which is a null value otherwise.
    case notANumber
    /// Has a range of primary keys for each hierarchy of entities.
    case rangesOfKeys
    /// Gives out the keys of a failed save again.
    case keysOfFailedSaves
    /// Keeps both sides of a many-to-many relationship equal, also where a merge policy rolls one of them back.
    case agreeingSides
}
