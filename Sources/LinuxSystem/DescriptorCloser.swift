/// Who closes what strangers have sent or filled, and removes what they may have mounted on, in another process than this: it may
/// take as long as they like.
package protocol DescriptorCloser: AnyObject {
    /// Closes a socket that has something of this user.
    func close(_ descriptor: consuming OwnedDescriptor, of user: UInt32)

    /// Has a socket or a folder removed on which others may have mounted something; see ``NameRemover/remove(_:)``.
    func remove(_ path: String)

    /// What calls on the sockets of this user's account have cost.
    func cost(of user: UInt32) -> CallCost
}

extension DescriptorCloser {
    /// That of each socket alone.
    package func cost(of user: UInt32) -> CallCost { CallCost() }
}
