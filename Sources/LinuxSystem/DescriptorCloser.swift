/// Who closes what strangers have sent or filled, in another process than this: it may take as long as they like.
package protocol DescriptorCloser: AnyObject {
    /// Closes a socket that has something of this user.
    func close(_ descriptor: consuming OwnedDescriptor, of user: UInt32)

    /// What calls on the sockets of this user's account have cost.
    func cost(of user: UInt32) -> CallCost
}

extension DescriptorCloser {
    /// That of each socket alone.
    package func cost(of user: UInt32) -> CallCost { CallCost() }
}
